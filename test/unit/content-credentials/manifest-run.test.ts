import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createContentCredentials } from '../../../src/modules/content-credentials/content-credentials.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'

const { execPath } = process
afterEach(() => {
  process.execPath = execPath
})

const dir = await createTemporaryFolder()
const config = {
  ...{ key: undefined, certificates: undefined, mayBeDevelopment: true },
  ...{ timestampUrl: undefined, trustList: undefined },
}

async function* picture() {
  yield new Uint8Array([0xff, 0xd8, 0xff])
}

it('reports UNAVAILABLE if the machine cannot start the process that reads a manifest', async () => {
  const credentials = createContentCredentials({ dir, config })
  process.execPath = join(dir, 'no-such-program')
  await expect(credentials.read(picture(), 'image/jpeg')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 5 })
})
