"""The Python SDK calls every tool of a profile, and reads what else there is: `python_mcp.py MODE TARGET CALLS`.

TARGET is a URL, or a command and its arguments as a JSON array. Exits 1 with a line that says what failed.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters, types
from mcp.shared.exceptions import MCPError

from calls import Calls


async def run(mode: str, target: str, path: str) -> None:
    if target.startswith("["):
        command, *arguments = json.loads(target)
        server = StdioServerParameters(command=command, args=arguments)
    else:
        server = target
    calls = Calls(path)
    async with Client(server, mode=mode, client_info=types.Implementation(name="clients-run", version="1")) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        for call in calls:
            result = await client.call_tool(call.tool, call.arguments)
            text = "\n".join(block.text for block in result.content)
            calls.check(call, result.is_error, text)
        calls.all_called(tools)

        failed = await client.call_tool(*calls.missing(tools))
        assert failed.is_error, "what is not there is not said to be an error"
        try:
            await client.call_tool(tools[0], {"user": "maria"})
            raise AssertionError("an unknown argument was taken")
        except MCPError as error:
            assert error.code == -32602, error

        for resource in (await client.list_resources()).resources:
            read = await client.read_resource(resource.uri)
            assert read.contents, resource.uri
        assert (await client.list_resource_templates()).resource_templates
        for prompt in (await client.list_prompts()).prompts:
            arguments = {argument.name: "boat" for argument in prompt.arguments or []}
            assert (await client.get_prompt(prompt.name, arguments)).messages, prompt.name
    print(len(tools), "tools,", len(calls), "calls")


asyncio.run(run(*sys.argv[1:]))
