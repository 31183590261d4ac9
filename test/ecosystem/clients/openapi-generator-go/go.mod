module annal-client

go 1.25.0
