"""How a task takes in what others sent: its channels, the loop that reads them, several inputs."""
