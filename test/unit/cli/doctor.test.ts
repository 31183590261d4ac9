/** The results of `annal doctor` for a real installation, intact and broken. */
import { chmod, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Wallet } from 'ethers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRpc } from '../../../src/chain/rpc.ts'
import { loadChecks } from '../../../src/cli/doctor/doctor-command.ts'
import { checkContentCredentials } from '../../../src/modules/content-credentials/content-credentials.ts'
import { makeDevelopmentChain } from '../../../src/modules/content-credentials/signing-identity.ts'
import { annalHere } from '../../support/annal-command.ts'
import { startFakeNode } from '../../support/fake-node.ts'
import { listen } from '../../support/listen.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { createTemporaryFolder } from '../../support/temporary-folder.ts'
import { createTestApp } from '../../support/test-app.ts'
import { refuse, startS3Counterpart } from '../files/s3-counterpart.ts'

const app = await createTestApp()
const dir = await createTemporaryFolder()

interface Line {
  check: string
  state: string
  finding: string
  fix: string | null
}

/** Runs the doctor on this installation with other variables. Returns the results by check. */
async function doctor(env: Record<string, string> = {}, ...only: string[]) {
  const { code, stdout, stderr } = await annalHere({ ...app.env, ...env }, [
    ...['doctor', '--json'],
    ...(only.length ? ['--only', ...only] : []),
  ])
  const lines = JSON.parse(stdout || '[]') as Line[]
  const of = (check: string) => lines.filter((line) => line.check === check)
  return { code, stderr, lines, of, states: Object.fromEntries(lines.map(({ check, state }) => [check, state])) }
}

describe('annal doctor', () => {
  it('`annal doctor` checks all parts and suggests a fix for each problem', async () => {
    const { code, lines } = await doctor()
    expect(new Set(lines.map(({ check }) => check))).toEqual(new Set(Object.keys(await loadChecks())))
    // The tests' own server does not sync its disk.
    const bad = lines.filter(({ state }) => state === 'error' || state === 'skipped')
    expect(bad).toMatchObject([{ check: 'database-server', finding: expect.stringContaining('fsync') }])
    expect(code).toBe(1)
    for (const { state, fix } of lines) if (['warning', 'error'].includes(state)) expect(fix).toMatch(/\w/)
    for (const { finding } of lines) expect(finding).not.toContain(app.env.CHAIN_RELAY_KEYS!.slice(2))
  })

  it('`annal doctor` prints each check with its fix, and exits with 0 if it finds no problem', async () => {
    const said = await annalHere(app.env, ['doctor', '--only', 'database', 'migrations', 'embedded'])
    expect(said).toMatchObject({ code: 0, stderr: 'No problems found.\n' })
    expect(said.stdout).toMatch(/^embedded +info +Embedded on this machine: .*\(set S3_BUCKET or IPFS_API_URL\)/m)
    expect(said.stdout).toMatch(/^database +ok +DATABASE_URL answers\.$/m)
    const wrong = await annalHere({ ...app.env, PORT: 'x', CHAIN_CONFIRMATIONS: '-' }, ['doctor'])
    expect(wrong.code).toBe(1)
    expect(wrong.stdout).toMatch(
      /^configuration +error +PORT: .*\n +→ Correct the variable.*\nconfiguration +error +CHAIN_CONF/m,
    )
    expect(wrong.stdout).toMatch(/^node +(ok|warning)/m)
    expect(wrong.stdout).toMatch(/^database +skipped +The configuration is invalid\.$/m)
    expect(await annalHere(app.env, ['doctor', '--only', 'nothing'])).toMatchObject({ code: 2, stdout: '' })
  })

  it('`annal doctor` reports configuration errors for every requested check', async () => {
    const { code, of } = await doctor({ DATABASE_URL: 'postgresql://u:p#@h/db' }, 'database')
    expect([code, of('configuration'), of('database')]).toMatchObject([
      1,
      [{ state: 'error', finding: expect.stringContaining('DATABASE_URL: ') }],
      [{ state: 'skipped' }],
    ])
    expect((await doctor({}, 'database')).states).toEqual({ database: 'ok' })
  })

  it('`annal doctor` warns about environment variables without effect', async () => {
    const { code, of } = await doctor({ DATABASE_URI: 'postgresql://geheim' }, 'configuration')
    expect([code, of('configuration')]).toMatchObject([
      0,
      [{ state: 'ok' }, { state: 'warning', finding: 'DATABASE_URI is not a variable of Annal and has no effect.' }],
    ])
  })

  it('`annal doctor` checks the signing certificate for Content Credentials', async () => {
    const check = async (env: Record<string, string>) => (await doctor(env, 'content-credentials')).lines
    const development = { state: 'info', finding: expect.stringContaining('with a development certificate') }
    expect(await check({})).toMatchObject([development])
    const DAY_MS = 86_400_000
    const chains = [0, -3_640, -3_700].map((days) => makeDevelopmentChain(new Date(Date.now() + days * DAY_MS)))
    const states = await Promise.all(
      chains.map(async ({ key, chain }, at) => {
        const file = join(dir, `chain-${at}.pem`)
        await writeFile(file, chain)
        return (await check({ C2PA_CERTIFICATES: file, C2PA_PRIVATE_KEY: key })).map(({ state }) => state)
      }),
    )
    expect(states).toEqual(['ok', 'warning', 'error'].map((state) => [state, state]))
    const made = join(app.env.ANNAL_DIR!, 'keys', 'content-credentials-development.pem')
    await writeFile(made, 'scrap')
    const finding = `${made} is damaged: it contains no key with certificates.`
    expect(await check({})).toMatchObject([
      { state: 'error', finding, fix: expect.stringMatching(/^Delete the file\./) },
    ])
    const { dir: folder, contentCredentials: config } = app.installation.config
    expect(() => checkContentCredentials({ config, dir: folder })).toThrow(`${made} is damaged`)
    await rm(made)
    const [own, other] = chains
    const lines = await check({ C2PA_CERTIFICATES: join(dir, 'chain-0.pem'), C2PA_PRIVATE_KEY: other!.key })
    expect(lines).toMatchObject([{ state: 'error', finding: expect.stringContaining('is not the key of') }])
    expect(JSON.stringify(lines)).not.toContain(own!.key.slice(40, 60))
  })

  it('`annal doctor` reports each unavailable part separately', async () => {
    const nowhere = 'http://127.0.0.1:1'
    const { code, states, of } = await doctor({
      DATABASE_URL: 'postgresql://annal@127.0.0.1:1/annal',
      CHAIN_RPC_URL: nowhere,
      IPFS_API_URL: nowhere,
      SMTP_URL: 'smtp://user:geheim@127.0.0.1:1',
      PUBLIC_URL: nowhere,
    })
    expect(code).toBe(1)
    expect(states).toMatchObject({
      ...{ configuration: 'ok', database: 'error', migrations: 'skipped', keys: 'skipped', jobs: 'skipped' },
      ...{ chain: 'error', 'relay-accounts': 'skipped', files: 'error' },
    })
    expect(of('mail')).toMatchObject([
      { state: 'error', finding: expect.stringContaining('cannot be reached (ECONNREFUSED)') },
      { state: 'warning', finding: expect.stringContaining('@localhost') },
    ])
    expect(JSON.stringify(of('mail'))).not.toContain('geheim')
    expect(of('server').map(({ state }) => state)).toEqual(['info', 'warning'])
  })

  it('`annal doctor` names the setting to change if the database is unusable', async () => {
    const url = new URL(app.env.DATABASE_URL!)
    url.searchParams.set('options', '-c datestyle=German')
    const { code, of, states } = await doctor({ DATABASE_URL: url.href }, 'database', 'migrations')
    expect([code, states.migrations]).toEqual([1, 'skipped'])
    const finding = expect.stringContaining('(datestyle is German, DMY)')
    const fix = `Change the settings: ALTER ROLE … SET datestyle = 'ISO'.`
    expect(of('database')).toMatchObject([{ state: 'error', finding, fix }])
  })

  it('`annal doctor` suggests a newer version or a server start if the migrations do not match', async () => {
    const added = `insert into _prisma_migrations (id, checksum, migration_name, finished_at) values ('later', '', '2099_later', now())`
    await app.sql(added)
    const newer = (await doctor({}, 'migrations')).of('migrations')
    await app.sql(`delete from _prisma_migrations where id = 'later'`)
    const finding = 'The database was migrated by a newer version of Annal (2099_later).'
    expect(newer).toMatchObject([{ state: 'error', finding, fix: expect.stringContaining('Run the newer version') }])
    const last = '(select max(migration_name) from _prisma_migrations)'
    await app.sql(`update _prisma_migrations set rolled_back_at = now() where migration_name = ${last}`)
    const older = (await doctor({}, 'migrations')).of('migrations')
    await app.sql('update _prisma_migrations set rolled_back_at = null')
    expect(older).toMatchObject([{ state: 'error', fix: expect.stringContaining('`annal migrate`') }])
  })

  it('`annal doctor` reports mail servers without encryption', async () => {
    const mailTo = async (SMTP_URL: string, env = {}) =>
      (await doctor({ MAIL_FROM: 'a@example.org', ...env, SMTP_URL }, 'mail')).of('mail').slice(1)
    const production = { NODE_ENV: 'production', ANNAL_EMBEDDED: 'true', PUBLIC_URL: 'https://annal.example.org' }
    const open = 'smtp://user:geheim@0.0.0.0:1'
    const reported = await mailTo(open, production)
    expect(reported).toMatchObject([{ state: 'warning', fix: expect.stringContaining('?requireTLS=true') }])
    expect(JSON.stringify(reported)).not.toContain('geheim')
    expect(await mailTo(open)).toMatchObject([{ state: 'info' }])
    for (const url of [`${open}?requireTLS=true`, 'smtps://0.0.0.0:1', 'smtp://127.0.0.1:1', 'smtp://localhost:1'])
      expect(await mailTo(url, production), url).toEqual([])
  })

  it('`annal doctor` warns about unsafe settings in production', async () => {
    const production = {
      ...{ NODE_ENV: 'production', ANNAL_EMBEDDED: 'true', ANNAL_EMBEDDED_DEPOSITS: 'true' },
      ...{ PUBLIC_URL: 'http://annal.example.org', MAIL_FROM: 'a@example.org', ALLOW_INSECURE_WEBHOOKS: 'true' },
      GRAPHQL_INTROSPECTION: 'true',
    }
    const wanted = ['secrets', 'embedded', 'public-url', 'exposure'] as const
    const { states, of } = await doctor(production, ...wanted)
    expect(states).toMatchObject({ secrets: 'warning', 'public-url': 'error' })
    expect(of('secrets')[0]).toMatchObject({ fix: expect.stringContaining('CHAIN_RELAY_KEYS_FILE') })
    expect(of('exposure').map(({ state }) => state)).toEqual(['warning', 'info', 'info'])
    const proxied = await doctor({ ...production, PUBLIC_URL: 'https://annal.example.org' }, 'public-url')
    expect(proxied.of('public-url')).toMatchObject([
      { state: 'warning', finding: expect.stringContaining('TRUSTED_PROXIES') },
    ])
    const behind = { PUBLIC_URL: 'https://annal.example.org', TRUSTED_PROXIES: '10.0.0.0/8' }
    expect((await doctor({ ...production, ...behind }, 'public-url')).states).toEqual({ 'public-url': 'ok' })
    const alone = { ...production, CHAIN_RPC_URL: '', CHAIN_RELAY_KEYS: '' }
    expect((await doctor(alone, 'embedded')).of('embedded').map(({ state }) => state)).toEqual(['warning', 'error'])
  })

  it('`annal doctor` writes, reads and deletes a test object in the bucket, and reports the failed step', async () => {
    const s3 = await startS3Counterpart()
    onTestFinished(s3.stop)
    const secret = { AWS_SECRET_ACCESS_KEY: 'geheim' }
    const { of } = await doctor({ ...s3.env, ...secret }, 'files', 'secrets')
    expect(of('files')).toMatchObject([{ state: 'ok', finding: expect.stringContaining('in the bucket files') }])
    expect([...s3.objects.keys()]).toEqual([])
    expect(of('secrets')[0]!.finding).toContain('AWS_SECRET_ACCESS_KEY')
    expect(of('secrets')[0]!.fix).toContain('AWS_SHARED_CREDENTIALS_FILE')
    expect(JSON.stringify(of('secrets'))).not.toContain('geheim')

    s3.keepsVersions = true
    expect((await doctor(s3.env, 'files')).of('files').map(({ state }) => state)).toEqual(['ok', 'warning'])
    for (const refused of ['PUT', 'GET', 'DELETE']) {
      s3.intercept = (method, _, res) => method === refused && refuse(res, 403, 'AccessDenied')
      const found = await doctor(s3.env, 'files')
      expect([found.code, found.of('files')], refused).toMatchObject([
        1,
        [{ state: 'error', finding: expect.stringContaining('403 AccessDenied') }],
      ])
    }
  })

  it('`annal doctor` reports relay accounts without funds, a wrong chain and a missing registry', async () => {
    const { address, privateKey } = Wallet.createRandom()
    const env = { CHAIN_RELAY_KEYS: privateKey, CHAIN_REGISTRY_ADDRESS: address }
    const { states, of } = await doctor(env, 'chain', 'relay-accounts')
    expect(states).toMatchObject({ chain: 'error', 'relay-accounts': 'error' })
    expect(of('chain').at(-1)!.finding).toBe(`There is no registry at ${address}.`)
    expect(of('relay-accounts')).toMatchObject([{ finding: expect.stringContaining(`${address} holds 0 coins`) }])
    expect((await doctor({ CHAIN_ID: '999' }, 'chain')).of('chain')).toMatchObject([
      { state: 'error', finding: expect.stringContaining('CHAIN_ID is 999') },
    ])
  })

  it('`annal doctor` reports a chain without finality, an invalid token and coins at a previous treasury', async () => {
    const { address, privateKey } = Wallet.createRandom()
    const node = await startFakeNode(onTestFinished, app.env.CHAIN_RPC_URL!)
    node.lie = (method, [tag]) => (method === 'eth_getBlockByNumber' && tag === 'finalized' ? null : undefined)
    const deposits = { CHAIN_DEPOSIT_CONFIRMATIONS: 'finalized', CHAIN_TOKEN_ADDRESS: address }
    const { of } = await doctor({ CHAIN_RPC_URL: node.url, ...deposits }, 'deposits')
    expect(of('deposits')).toMatchObject([
      { state: 'error', finding: expect.stringContaining('does not report a final block') },
      {
        state: 'error',
        finding: expect.stringContaining(`no ERC-20 token at the address in CHAIN_TOKEN_ADDRESS, ${address}`),
      },
    ])

    const user = await app.newUser()
    const earlier = Wallet.createRandom().address
    await createRpc({ url: app.env.CHAIN_RPC_URL! }).call('anvil_setBalance', earlier, '0x10')
    await app.sql(
      `insert into coin_transfers (kind, sender, nonce, recipient, wallet_id, amount, transaction_hash, status, arrived, fee, block_number, block_hash, settlements)
       values ('SWEEP', $1, 0, $2, $3::uuid, 2, '0x01', 'FINAL', 1, 1, 1, '0x02', 1)`,
      ['0x0000000000000000000000000000000000000000', earlier, user.id],
    )
    const seen = await doctor({ CHAIN_TREASURY_KEY: privateKey }, 'treasury')
    await app.sql(`update coin_transfers set status = 'FAILED', arrived = 0`)
    expect(seen.of('treasury')).toMatchObject([
      { state: 'ok', finding: expect.stringContaining(`${address} holds 0 coins`) },
      { state: 'error', finding: expect.stringContaining(`are at the earlier treasury ${earlier}`) },
    ])
  })

  it('`annal doctor` reports items that need an operator', async () => {
    expect((await doctor({}, 'jobs', 'batch-jobs', 'webhooks', 'relay')).code).toBe(0)
    const [letter] = await app.sql<{ id: string }>(
      `with made as (select enqueue('dead-letter', '{"userId": "01890000-0000-7000-8000-000000000000"}'::jsonb) as id)
       select id::text from made`,
    )
    await app.sql(
      `insert into job_failures (job, item, attempts, next_attempt_at, last_error)
       values ('expire-orders', 'x', 3, now() + interval '1 hour', 'it is locked')`,
    )
    const { code, of } = await doctor({}, 'jobs', 'batch-jobs')
    await app.sql('delete from job_failures')
    await app.sql('delete from jobs.job where id = $1::uuid', [letter!.id])
    expect([code, of('jobs'), of('batch-jobs')]).toMatchObject([
      1,
      [{ state: 'error', fix: expect.stringContaining('annal jobs --retry') }],
      [{ state: 'error', finding: expect.stringContaining('it is locked') }],
    ])
  })

  it.runIf(process.platform === 'linux')(
    '`annal doctor` reports a full disk that contains only part of the data folder',
    async () => {
      const ANNAL_DIR = await createTemporaryFolder()
      const room = { finding: expect.stringMatching(/ free in .*annal-\w+\.$/) }
      expect((await doctor({ ANNAL_DIR }, 'disk')).lines).toMatchObject([room])
      // The file system /proc reports no free space.
      await symlink('/proc', join(ANNAL_DIR, 'keys'))
      const { code, lines } = await doctor({ ANNAL_DIR }, 'disk')
      expect([code, lines]).toMatchObject([
        1,
        [room, { state: 'error', finding: `0 bytes free in ${join(ANNAL_DIR, 'keys')}.` }],
      ])
    },
  )

  it('`annal doctor` reports folders that other users can read, and a different version at PUBLIC_URL', async () => {
    const { ANNAL_DIR } = app.env
    expect((await doctor({}, 'folders')).states).toEqual({ folders: 'ok' })
    await chmod(ANNAL_DIR!, 0o755)
    await chmod(join(ANNAL_DIR!, 'keys'), 0o755)
    const { of } = await doctor({}, 'folders')
    await chmod(join(ANNAL_DIR!, 'keys'), 0o700)
    await chmod(ANNAL_DIR!, 0o700)
    expect(of('folders').map(({ finding }) => finding)).toEqual([
      expect.stringContaining(`can read ${ANNAL_DIR}.`),
      expect.stringContaining('/keys.'),
    ])
    const file = join(dir, 'a-file')
    await writeFile(file, '')
    expect((await doctor({ ANNAL_DIR: file }, 'folders')).of('folders')).toMatchObject([
      { state: 'error', finding: `ANNAL_DIR is ${file}, which is not a folder.` },
    ])
    const other = createServer((_req, res) => void res.end('{"version":"9.9.9"}'))
    const there = `http://127.0.0.1:${await listen(other, onTestFinished)}`
    const { lines } = await doctor({ PORT: new URL(app.url).port, PUBLIC_URL: there }, 'server')
    expect(lines.map(({ state }) => state)).toEqual(['warning', 'warning'])
    expect(lines[1]!.finding).toContain('9.9.9')
  })

  it('`annal doctor` reports a mail server that accepts the login, and keys of another database', async () => {
    const mail = await startMailServer(onTestFinished)
    const { states } = await doctor({ SMTP_URL: mail.url, MAIL_FROM: 'a@example.org' }, 'mail')
    expect(states).toEqual({ mail: 'ok' })
    await app.sql(`insert into key_values (key, value) values ('vault', 'another')`)
    const { of } = await doctor({}, 'keys')
    await app.sql(`delete from key_values where key = 'vault'`)
    expect(of('keys')).toMatchObject([{ state: 'error', finding: expect.stringContaining('do not belong') }])
  })

  it('`annal doctor` creates no files before the first start of the server', async () => {
    const fresh = join(dir, 'fresh')
    const said = await annalHere({ ANNAL_DIR: fresh }, ['doctor', '--json'])
    const lines = JSON.parse(said.stdout) as Line[]
    expect(lines.filter(({ state }) => state === 'error')).toEqual([])
    expect(lines.find(({ check }) => check === 'database')).toMatchObject({ state: 'skipped' })
    await expect(rm(fresh)).rejects.toThrow('ENOENT')
  })
})
