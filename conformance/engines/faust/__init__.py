"""Faust: jobs over topics of a broker that librdkafka makes up, in processes that are killed."""
