"""A client of the Model Context Protocol by its Python SDK: COMMAND PID FILE; what it was answered, as JSON.

It runs in a process of its own, by tests/jvm/test_mcp.py: the SDK brings its own versions of what others use.
"""
import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client


async def main(command, pid, path):
    seen = {"answers": {}, "progress": []}

    async def progress(done, total, message):
        seen["progress"].append([done, total])

    async with stdio_client(StdioServerParameters(command=command, args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as session:
            greeting = await session.initialize()
            seen["server"], seen["version"] = greeting.server_info.name, greeting.protocol_version
            await session.send_ping()
            seen["tools"] = [tool.name for tool in (await session.list_tools()).tools]

            async def ask(label, tool, **arguments):
                result = await session.call_tool(tool, arguments, progress_callback=progress)
                seen["answers"][label] = [result.is_error, "".join(part.text for part in result.content)]

            await ask("jvms", "list_jvms")
            await ask("first", "record", target=pid, seconds=7)
            # two at once, and a question beside them
            await asyncio.gather(ask("second", "record", target=str(pid), seconds=2, event="wall"), ask("memory", "memory", target=pid),
                                 ask("findings", "findings", handle="r1"))
            await ask("paths", "hot_paths", handle="r1", depth=4)
            await ask("focus", "hot_paths", handle="r1", focus="*KnownShares.alpha")
            await ask("callers", "callers", handle="r1", method="truth.Program.work")
            await ask("callees", "callees", handle="r1", method="truth.KnownShares.first")
            await ask("timeline", "timeline", handle="r1", slices=4)
            await ask("opened", "open", path=path)
            await ask("no times", "timeline", handle="f3")
            await ask("diff", "diff", before="r1", after="f3")
            await ask("no handle", "findings", handle="r9")
            await ask("no method", "callers", handle="r1", method="no.such.Method")
            await ask("no process", "record", target=4999999)
            await ask("an option", "record", target="--libpath=/x")
    print(json.dumps(seen))


asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
