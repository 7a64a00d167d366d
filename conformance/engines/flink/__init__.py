"""Real Apache Flink as an engine: its own classes in a JVM driven from Python, version by version.

`fetch` gets the jars of a version from PyPI into the `cache`, `jvm` starts a JVM on them, each module of `adapters`
drives the classes of one component with the events of the protocol, and `engine` is behind `--engine flink`.
"""
