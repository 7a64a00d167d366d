"""Where cases come from: one folder for each component, with its generator, its scopes and its directed traces."""
