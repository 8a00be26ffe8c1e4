"""The tool for verl's agent loop, which executes this file by its path
(`rollcage.adapters.verl.TOOL_FILE`). It reads its policy from ROLLCAGE_TOOL_POLICY.
"""

from __future__ import annotations

import asyncio
import os

from verl.tools.function_tool import function_tool

from rollcage.adapters._tool import Tool

_tool = Tool(policy=os.environ.get("ROLLCAGE_TOOL_POLICY", "python"))


@function_tool("run_python")  # type: ignore[untyped-decorator]
async def run_python(code: str) -> str:
    """Runs a Python program in a sandbox and gives what it printed, or how it failed.

    Args:
        code: The whole program.
    """
    return await asyncio.to_thread(_tool.run, code)
