import { createHash, randomBytes } from 'node:crypto'
import { createTestApp, type TestApp } from '../test-app.ts'
import { PASSWORD } from '../user.ts'
import type { ServiceUnderTest } from './scene.ts'
import { modelEnv, terms } from './state.ts'
import { decimal } from './units.ts'

export async function createServiceUnderTest(): Promise<ServiceUnderTest & { app: TestApp }> {
  const app = await createTestApp({ env: modelEnv })
  const apiKey = `${randomBytes(4).toString('hex')}.${randomBytes(24).toString('base64url')}`
  const hash = createHash('sha256').update(apiKey).digest()
  await app.sql('insert into api_keys (name, prefix, hash) values ($1, $2, $3)', ['model', apiKey.slice(0, 8), hash])
  return {
    app,
    urls: [app.url],
    database: app.installation.database,
    sql: app.sql,
    apiKey,
    password: PASSWORD,
    createUser: (role) => app.newUser({ role, points: role === 'USER' ? decimal(terms.signUpPoints) : '0' }),
  }
}
