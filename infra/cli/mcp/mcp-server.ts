/**
 * The Model Context Protocol over a transport: the tools' names, and their answers as text and as data. It uses
 * the SDK, because the protocol gets a new version twice a year, and its low-level `Server`, because `McpServer`
 * takes schemas in zod: each answer would have a second schema.
 */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { installation, packageName } from '#infra/installation.ts';
import type { Arguments, Tool } from './tool.ts';

const instructions =
  'Tells of Kubernetes Services whether they can be reached, why a Pod is no endpoint, and what changed their endpoints. Reads only. Start with list_services or explain: causes are the worst first, each with what to do next.';

/** Resolves when the transport is connected; it then lives as long as its other end. */
export async function serveTools(tools: readonly Tool[], transport: Transport): Promise<void> {
  const server = new Server(
    { name: packageName, version: installation.version },
    { capabilities: { tools: {} }, instructions },
  );
  const ajv = new Ajv2020({ allErrors: true });
  const byName = new Map(tools.map((tool) => [tool.name, { tool, isValid: ajv.compile(tool.inputSchema) }]));
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ answer: _, inputSchema, outputSchema, ...tool }) => ({
      ...tool,
      inputSchema: { ...inputSchema, required: [...inputSchema.required] },
      outputSchema: outputSchema as { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const found = byName.get(params.name);
    if (!found)
      throw new McpError(
        ErrorCode.InvalidParams,
        `no tool ${params.name}: there are ${[...byName.keys()].join(', ')}`,
      );
    const given = params.arguments ?? {};
    if (!found.isValid(given)) return failure(mistakes(found.isValid));
    return answered(found.tool, given as unknown as Arguments);
  });
  await server.connect(transport);
}

/** A failed answer is a result, which the agent's model reads; a protocol error would end its turn. */
async function answered(tool: Tool, given: Arguments): Promise<CallToolResult> {
  try {
    const data = await tool.answer(given);
    return {
      content: [{ type: 'text', text: JSON.stringify(data) }],
      structuredContent: data as { [name: string]: unknown },
    };
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

const failure = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true });

const mistakes = ({ errors }: ValidateFunction): string =>
  (errors ?? [])
    .map(({ instancePath, message, params }) =>
      [`arguments${instancePath}`, message, params['additionalProperty']].filter(Boolean).join(' '),
    )
    .join('; ');
