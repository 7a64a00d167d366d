"""Kafka for engines that need a broker: librdkafka's mock broker, and a coordinator in front of it."""
