"""Records as bytes, and bytes in buffers: written, cut and put together again."""
