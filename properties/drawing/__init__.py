"""Drawing of cases, scopes, and directed traces: shared by all components."""
