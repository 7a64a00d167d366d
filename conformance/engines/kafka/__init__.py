"""Kafka for engines that need a broker: the one that librdkafka makes up, and a coordinator in front of it."""
