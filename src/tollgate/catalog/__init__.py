"""Facts as rows: parameters, rules, results, payment types, brands, currencies, countries, limits.
Nothing here does more than answer.
"""
