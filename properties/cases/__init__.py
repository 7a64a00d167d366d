"""Cases: each component has a module with its generator and scopes, and a file of directed traces."""
