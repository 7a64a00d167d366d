"""Recovery: what comes back from a checkpoint, at the same parallelism or another, before the job goes on."""
