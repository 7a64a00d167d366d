"""Apache Beam: jobs on its direct runner, whose sources are scripted by a TestStream."""
