/** A load balancer that terminates TLS and supports only HTTP/2. Kubo requires HTTP/2 for gateways outside its network. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { createSecureServer, type IncomingHttpHeaders } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { atEnd } from '../../support/at-end.ts'
import { listen } from '../../support/listen.ts'

const carryOut = promisify(execFile)

const ADDED = {
  'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
  server: 'balancer',
  via: '2 balancer.example.org',
  'alt-svc': 'h3=":443"; ma=86400',
  'x-cache': 'MISS from balancer.example.org',
}

const selfSigned = async () => {
  const dir = await mkdtemp(join(tmpdir(), 'annal-tls-'))
  try {
    const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    await carryOut('openssl', ['req', '-x509', ...curve, ...names, '-days', '2', '-keyout', key, '-out', cert])
    return { key: await readFile(key), cert: await readFile(cert) }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

const without = (headers: IncomingHttpHeaders, gone: RegExp) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !gone.test(name)))

export async function startBalancer(url: string): Promise<number> {
  const server = createSecureServer(await selfSigned())
  server.on('stream', (stream, { ':path': path, ':method': method, ...headers }) => {
    stream.on('error', () => undefined)
    const asked = request(new URL(path ?? '/', url), { method: method ?? 'GET', headers: without(headers, /^:/) })
    asked.once('error', () => stream.close())
    asked.once('response', (answer) => {
      const own = without(answer.headers, /^(connection|keep-alive|transfer-encoding)$/)
      if (stream.destroyed) return void answer.destroy()
      stream.respond({ ':status': answer.statusCode, ...own, ...ADDED })
      pipeline(answer, stream, () => undefined)
    })
    asked.end()
  })
  return listen(server, atEnd)
}
