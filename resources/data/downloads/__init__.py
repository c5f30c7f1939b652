"""Downloads of published data sets, which a user requests with `memflow data get`. Nothing else downloads."""
