/**
 * Content Credentials as a website reads them: the web SDK of the reference implementation, in a real Chromium, from files of this
 * machine alone, under a strict Content-Security-Policy. Its worker comes out of itself: as a file it has to come by https.
 */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { launchChromium } from '../../support/chromium.ts'

const modules = join(import.meta.dirname, 'readers/node_modules')
const types: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm' }

const IMPORTS = JSON.stringify({
  imports: { highgain: '/highgain/dist/index.js', 'ts-deepmerge': '/ts-deepmerge/esm/index.js' },
})
const SDK = '/@contentauth/c2pa-web/dist/'
const PAGE = `<!doctype html><meta charset="utf-8"><title>Content Credentials</title>
<script type="importmap">${IMPORTS}</script>
<script type="module">
import { createC2pa } from '${SDK}index.js'
const sdk = createC2pa({ wasmSrc: '${SDK}resources/c2pa_bg.wasm' })
window.read = async (path, type, anchors) => {
  const blob = await (await fetch(path)).blob()
  const settings = anchors ? { trust: { trustAnchors: anchors } } : {}
  const reader = await (await sdk).reader.fromBlob(type, blob, settings)
  if (!reader) return { state: 'None', codes: [], manifests: 0, assertions: {} }
  const store = await reader.manifestStore()
  const active = await reader.activeManifest()
  await reader.free()
  return {
    state: store.validation_state,
    manifests: Object.keys(store.manifests).length,
    codes: Object.values(store.validation_results.activeManifest).flat().map(({ code }) => code),
    title: active.title,
    assertions: Object.fromEntries(active.assertions.map(({ label, data }) => [label, data])),
  }
}
document.documentElement.lang = 'en'
</script>`

export interface WebReading {
  error?: string
  state: string
  manifests: number
  codes: string[]
  title?: string
  assertions: Record<string, Record<string, unknown>>
}

export type WebCase = { type: string; bytes: Uint8Array; anchors?: string }

export async function readInBrowser(cases: readonly WebCase[]): Promise<{ readings: WebReading[]; foreign: string[] }> {
  const cleanUps: (() => Promise<unknown>)[] = []
  const server = createServer(async ({ url = '/' }, res) => {
    const [, at] = /^\/case\/(\d+)$/.exec(url) ?? []
    const [, ending] = /^[^.]+\.(\w+)$/.exec(url) ?? []
    const type = url === '/' ? 'text/html' : (types[ending ?? ''] ?? 'application/octet-stream')
    const readModule = () => readFile(join(modules, url)).catch(() => undefined)
    const body = url === '/' ? PAGE : at ? cases[Number(at)]?.bytes : await readModule()
    res.writeHead(body === undefined ? 404 : 200, {
      'Content-Type': type,
      'Content-Security-Policy':
        "default-src 'none'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'",
    })
    res.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => new Promise((resolve) => server.close(resolve)))
  try {
    const browser = await launchChromium((end) => void cleanUps.push(end))
    const page = await browser.newPage()
    const home = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const foreign: string[] = []
    // The worker's address begins with `blob:`.
    page.on('request', (request) => request.url().replace('blob:', '').startsWith(home) || foreign.push(request.url()))
    page.on('console', (message) => message.type() === 'error' && foreign.push(message.text()))
    await page.goto(home)
    const isReady = page.locator('html[lang]').waitFor({ state: 'attached' })
    await isReady.catch((error: unknown) => {
      throw new Error(`The page with the web SDK does not start: ${foreign.join(', ')}`, { cause: error })
    })
    const readings: WebReading[] = []
    for (const [at, { type, anchors }] of cases.entries()) {
      const call = `window.read(${JSON.stringify(`/case/${at}`)}, ${JSON.stringify(type)}, ${JSON.stringify(anchors ?? '')})`
      const nothing = { state: 'Unread', manifests: 0, codes: [], assertions: {} }
      readings.push(
        await page.evaluate<WebReading>(call).catch((error: unknown) => ({ ...nothing, error: String(error) })),
      )
    }
    return { readings, foreign }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
  }
}
