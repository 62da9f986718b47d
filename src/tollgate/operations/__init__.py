"""What several stories share: the house they happen in, the route, the driver of connectors, chains and seals."""
