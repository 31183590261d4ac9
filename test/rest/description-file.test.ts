import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, it } from 'vitest'
import { createTestApp } from '../support/test-app.ts'

const app = await createTestApp()
const { readFile } = fs.promises

afterEach(() => {
  fs.promises.readFile = readFile
  syncBuiltinESMExports()
})

it('the description is answered again as soon as its file can be read', async () => {
  const status = async () => (await app.rest('GET', 'openapi.json')).status
  fs.promises.readFile = (async () => {
    throw new Error('EMFILE: too many open files')
  }) as typeof readFile
  syncBuiltinESMExports()
  expect(await status()).toBe(500)
  fs.promises.readFile = readFile
  syncBuiltinESMExports()
  expect([await status(), await status()]).toEqual([200, 200])
})
