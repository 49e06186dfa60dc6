"""Owns the meanings of columns about proxies and the clients behind them."""

PROXY_MEANINGS = {
    "proxyList": {
        "proxyAddr": "remoting port of the proxy, HOST:PORT; only the host if the port is unknown",
        "grpcAddr": "gRPC port of the proxy, HOST:PORT; null if unknown",
        "mode": "cluster or local; null if unknown",
        "version": "release of the proxy; null if unknown",
        "state": "ok, silent (does not answer) or unknown",
        "consumers": "connected consumers; null if unknown, as in local mode",
        "grpcConnections": "connections of gRPC clients; null if unknown",
        "lastHeartbeat": "when the proxy passed on the last heartbeat of a consumer (UTC)",
        "sources": "where the proxy is known from: heartbeats, configured (--proxies), brokers",
        "error": "why the proxy does not answer; null if it does",
    },
    "clientList": {
        "clientId": "id of the client; null if only the address of its connection is known",
        "role": "consumer, producer, both separated by a comma, or none; null if unknown",
        "groups": "consumer groups of the client; null if unknown",
        "producerGroups": "producer groups of the client; null if unknown. Topics for a gRPC producer",
        "brokerAddrs": "brokers that the client is connected to",
        "proxyAddrs": "proxies that the client is connected to, by remoting port",
        "version": "release of the client; null if unknown",
    },
}
