"""Text for people, written from what runs: pages, explanations, stories, matrices."""
