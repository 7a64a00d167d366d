"""To be looked at: the playground and the page of a report. The pages are in static/, and run in any browser."""
