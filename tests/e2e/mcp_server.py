"""An MCP server with one tool, `ping`, on stdin and stdout."""

import json
import sys

PING = {
    "name": "ping",
    "description": "x",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        told = {
            "initialize": {"capabilities": {"tools": {}}, "serverInfo": {"name": "probe", "version": "1"}},
            "tools/list": {"tools": [PING]},
            "tools/call": {"content": [{"type": "text", "text": "pong"}]},
        }.get(asked["method"], {})
        if asked["method"] == "initialize":
            told["protocolVersion"] = asked["params"]["protocolVersion"]
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)


if __name__ == "__main__":
    main()
