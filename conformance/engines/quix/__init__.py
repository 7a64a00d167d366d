"""Quix Streams: jobs over topics of librdkafka's mock broker, in processes that are killed."""
