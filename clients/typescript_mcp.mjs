// The TypeScript SDK calls every tool of a profile, and reads what else there is: `typescript_mcp.mjs MODE TARGET CALLS`.
//
// MODE is auto, legacy or a revision. TARGET is a URL, or a command and its arguments as a JSON array.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [mode, target, path] = process.argv.slice(2);
// Installed in a folder of its own, not beside this file.
const sdk = (name) => import(pathToFileURL(`${process.env.CLIENTS_NPM}/node_modules/@modelcontextprotocol/client/dist/${name}.mjs`));
const { Client, StreamableHTTPClientTransport } = await sdk('index');
const { StdioClientTransport } = await sdk('stdio');

const kept = {};
const filled = (value) => {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value === 'string') return value.replace(/\$\{(\w+)\}/g, (_, name) => kept[name]);
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item)]));
  return value;
};
const assert = (holds, what) => {
  if (!holds) throw new Error(what);
};

const negotiation = mode === 'auto' || mode === 'legacy' ? mode : { pin: mode };
const client = new Client({ name: 'clients-run', version: '1' }, { versionNegotiation: { mode: negotiation } });
const isCommand = target.startsWith('[');
const [command, ...args] = isCommand ? JSON.parse(target) : [];
await client.connect(isCommand ? new StdioClientTransport({ command, args }) : new StreamableHTTPClientTransport(new URL(target)));

const { tools } = await client.listTools();
const called = new Set();
const calls = JSON.parse(readFileSync(path, 'utf8'));
for (const call of calls) {
  const result = await client.callTool({ name: call.tool, arguments: filled(call.arguments) });
  const text = result.content.map((block) => block.text).join('\n');
  const where = `${call.tool} ${JSON.stringify(filled(call.arguments))}: ${text.slice(0, 400)}`;
  assert(!result.isError, where);
  assert(!call.expect || text.includes(filled(call.expect)), `no ${filled(call.expect)} in ${where}`);
  assert(!call.absent || !text.includes(filled(call.absent)), `${filled(call.absent)} in ${where}`);
  const words = text.split(/\s+/);
  for (const [name, word] of Object.entries(call.keep ?? {})) {
    assert(words.slice(0, -1).includes(word), `no ${word} in ${where}`);
    kept[name] = words[words.indexOf(word) + 1].replace(/[.,;:)]+$/, '');
  }
  called.add(call.tool);
}
const never = tools.map((tool) => tool.name).filter((name) => !called.has(name));
assert(never.length === 0, `never called: ${never}`);

const refused = await client.callTool({ name: tools[0].name, arguments: { user: 'maria' } }).then(() => null, (error) => error);
assert(refused?.code === -32602, `an unknown argument: ${refused}`);

for (const { uri } of (await client.listResources()).resources) {
  assert((await client.readResource({ uri })).contents.length > 0, uri);
}
assert((await client.listResourceTemplates()).resourceTemplates.length > 0, 'templates');
for (const prompt of (await client.listPrompts()).prompts) {
  const prompted = Object.fromEntries((prompt.arguments ?? []).map(({ name }) => [name, 'boat']));
  assert((await client.getPrompt({ name: prompt.name, arguments: prompted })).messages.length > 0, prompt.name);
}
await client.close();
console.log(`${tools.length} tools, ${calls.length} calls`);
