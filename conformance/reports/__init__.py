"""What a run leaves behind, for people and for machines."""
