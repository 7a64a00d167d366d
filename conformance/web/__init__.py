"""Web pages: the playground and reports. The static parts are in static/, and run in any browser."""
