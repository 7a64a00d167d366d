"""An engine in a process of its own: started, spoken to line by line, and always gone afterwards."""
