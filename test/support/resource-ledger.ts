/** Checks for every test file that all resources are closed after its last hook. A leak fails the file that caused it. */
import { readdirSync, rmdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect } from 'vitest'
import { runEndings } from './at-end.ts'
import { growth, heldNow, ownTemporaryFolder } from './held-resources.ts'

const PATIENCE = 10_000
const POLL = 25

const folder = ownTemporaryFolder()
const before = heldNow(folder)

// Registered before all hooks of the file, so it runs after them.
afterAll(async () => {
  await runEndings()
  const deadline = performance.now() + PATIENCE
  let left = growth(before, heldNow(folder))
  while (left.length > 0 && performance.now() < deadline) {
    await delay(POLL)
    left = growth(before, heldNow(folder))
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
  expect(left, 'The tests of this file left something open').toEqual([])
}, PATIENCE + 60_000)
