"""Facts as rows: parameters, rules, results, kinds, brands, currencies, countries, limits.
Nothing here does more than answer.
"""
