import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, it } from 'vitest'
import { send } from '../../support/http-client.ts'
import { createTestApp } from '../../support/test-app.ts'

const app = await createTestApp()
const { readFile } = fs.promises

afterEach(() => {
  fs.promises.readFile = readFile
  syncBuiltinESMExports()
})

it.each(['/api/v3/openapi.json', '/graphql'])('compresses %s only for clients that accept gzip', async (path) => {
  const encodingFor = async (accepted: string) => {
    const headers = { Accept: path === '/graphql' ? 'text/html' : 'application/json', 'Accept-Encoding': accepted }
    const answer = await send(app.url, { method: 'GET', path, headers })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('vary')).toMatch(/\bAccept-Encoding$/)
    return answer.headers.get('content-encoding')
  }
  for (const accepted of ['gzip', 'br, GZIP;q=0.5', 'identity, gzip ; q=1'])
    expect(await encodingFor(accepted)).toBe('gzip')
  for (const refused of ['identity', 'gzip;q=0', 'br, gzip; Q=0.000', 'gzipped'])
    expect(await encodingFor(refused)).toBeNull()
})
