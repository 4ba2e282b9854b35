// iceberg_js_bridge.mjs MODULE URI: calls the client iceberg-js, which MODULE has, as lines of
// standard input say: a JSON array of a method and its arguments. Each is answered by a line:
// {"value": …}, or {"error": {"status": …, "type": …}} for what the catalog refused.
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

const [module, baseUrl] = process.argv.slice(2)
const { IcebergRestCatalog, IcebergError } = await import(pathToFileURL(module).href)
const catalog = new IcebergRestCatalog({ baseUrl, auth: { type: 'none' } })

async function answer([method, ...parameters]) {
  try {
    return { value: (await catalog[method](...parameters)) ?? null }
  } catch (error) {
    if (!(error instanceof IcebergError)) throw error
    return { error: { status: error.status, type: error.icebergType, message: error.message } }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n')
}
