"""The back office: pages under `/office` for operators, developers and administrators."""
