"""Documents generated from the code: pages, explanations, stories, matrices."""
