"""Real Apache Flink as an engine: its own classes in a JVM that Python drives, version by version.

`fetch` brings the jars of a version from PyPI into the `cache`, `jvm` starts a JVM on them, each module of `adapters`
lets the classes of one component answer the events of the protocol, and `engine` puts them behind `--engine flink`.
"""
