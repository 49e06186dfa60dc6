"""Proxies of RocketMQ 5, and the clients behind them."""
