"""What is durable, on SQLite or PostgreSQL: payments, claims, events, jobs, the directory. Never receives a secret."""
