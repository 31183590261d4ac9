/** What ends TLS before a gateway: HTTP/2 alone, without which Kubo reads from no gateway that is not on its own network. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { createSecureServer, type IncomingHttpHeaders, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'

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

export const startBalancer = async (url: string): Promise<{ port: number; stop(): Promise<void> }> => {
  const server = createSecureServer(await selfSigned())
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const session of sessions) session.destroy()
      }),
  }
}
