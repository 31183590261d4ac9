/** A service whose every part was given a secret that can be recognised. */
import { randomBytes } from 'node:crypto'
import { createRelayAccount } from '../../src/chain/keys.ts'
import { createRpc } from '../../src/chain/rpc.ts'
import { createCustody } from '../../src/platform/vault/custody.ts'
import { createLocalKeyVault } from '../../src/platform/vault/local-key-vault.ts'
import { type ChainProxy, startChainProxy } from '../../test/support/chain-proxy.ts'
import { type MailServer, startMailServer } from '../../test/support/mail-server.ts'
import { type ReceivedCall, type Receiver, type Respond, startReceiver } from '../../test/support/receiver.ts'
import type { Canary } from './canaries.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { readKeys } from './key-rows.ts'
import { type Parts, startParts } from './parts.ts'
import type { ProofContext } from './proof.ts'
import { runSql } from './run-sql.ts'
import { createTranscript, type Transcript } from './transcript.ts'

export interface Scene {
  context: ProofContext
  parts: Parts
  mailServer: MailServer
  chain: ChainProxy
  /** Says everything that it was told, in several ways, and is not content. */
  receiver: Receiver
  gateway: Gateway
  transcript: Transcript
  /** By their names; grows with what the service makes. */
  canaries: Map<string, Canary>
  /** `open`: how many characters at its beginning are no secret. */
  add(name: string, text: string, bytes?: Buffer, open?: number): void
  env: Record<string, string>
  relayAddress: string
}

const ROLE = 'proof_gateway'
const letters = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'

/** Long enough that chance never writes it, short enough to be a password. */
export const newText = (length = 20) =>
  Array.from(randomBytes(length), (byte) => letters[byte % letters.length]).join('')
export const newHex = () => randomBytes(32).toString('hex')

/** What a receiver repeats of a call: its body as it came, as text in JSON, as a page, and the head. */
const repeat = ({ body: text, headers }: ReceivedCall) => {
  const args = JSON.stringify((JSON.parse(text) as { data: { action_args: object } }).data.action_args)
  return `token not taken: ${args} <p>${JSON.stringify(args)}</p> ${JSON.stringify(headers)} ${encodeURIComponent(args)} ${text}`
}

const respond: Respond = (response, call) => {
  const isOdd = Number.parseInt(call.id.slice(-1), 36) % 2 === 1
  response.writeHead(isOdd ? 500 : 200, { 'x-echo': 'yes' }).end(repeat(call))
}

export async function openScene(context: ProofContext): Promise<Scene> {
  const canaries = new Map<string, Canary>()
  const add: Scene['add'] = (name, text, bytes, open = 0) =>
    void canaries.set(name, { name, text, open, ...(bytes && { bytes }) })
  const textOf = (name: string) => canaries.get(name)!.text
  for (const name of ['database password', 'mail password', 'chain node key']) add(name, newText())
  for (const name of ['key-encryption key', 'earlier key-encryption key', 'relay key']) {
    const hex = newHex()
    add(name, hex, Buffer.from(hex, 'hex'))
  }

  const parts = await startParts(context)
  const mailServer = await startMailServer(context.afterwards)
  const chain = await startChainProxy(context.afterwards, parts.rpcUrl)
  const receiver = await startReceiver(context.afterwards, respond)
  const relayAddress = createRelayAccount(`0x${textOf('relay key')}`).address
  await createRpc({ url: parts.rpcUrl }).call('anvil_setBalance', relayAddress, `0x${(10n ** 21n).toString(16)}`)
  const password = textOf('database password')
  await runSql(parts.database, `create role ${ROLE} superuser login password '${password}'`)

  const databaseUrl = new URL(parts.databaseUrl)
  Object.assign(databaseUrl, { username: ROLE, password })
  const env = {
    ...parts.env,
    LOG_LEVEL: 'trace',
    DATABASE_URL: databaseUrl.href,
    CHAIN_RPC_URL: `${chain.url}/v2/${textOf('chain node key')}`,
    CHAIN_RELAY_KEYS: `0x${textOf('relay key')}`,
    KEY_ENCRYPTION_KEY: textOf('key-encryption key'),
    KEY_ENCRYPTION_KEY_PREVIOUS: textOf('earlier key-encryption key'),
    SMTP_URL: `smtp://annal:${textOf('mail password')}@127.0.0.1:${mailServer.port}`,
    EMAIL_VERIFICATION: 'on',
    ALLOW_INSECURE_WEBHOOKS: 'true',
    LIMIT_REQUESTS_PER_IP: '1000000',
    LIMIT_REQUESTS_PER_TOKEN: '1000000',
  }
  await failToStart(context, env, textOf)
  const gateway = await createGateway(context, 'gateway', env)
  await gateway.start()
  const transcript = createTranscript(gateway.url)
  return { context, parts, mailServer, chain, receiver, gateway, transcript, canaries, add, env, relayAddress }
}

/** Starts with a configuration that is wrong in every secret; what is said of it stands in logs. */
async function failToStart(context: ProofContext, env: Record<string, string>, textOf: (name: string) => string) {
  const nowhere = new URL(env.DATABASE_URL!)
  nowhere.pathname = '/nowhere'
  const wrong: Record<string, Record<string, string>> = {
    'without-form': {
      DATABASE_URL: env.DATABASE_URL!.replace('postgresql:', 'postgres;'),
      CHAIN_RPC_URL: `//${textOf('chain node key')}`,
      KEY_ENCRYPTION_KEY: `${textOf('key-encryption key')}00`,
      KEY_ENCRYPTION_KEY_PREVIOUS: `${textOf('earlier key-encryption key')};`,
      SMTP_URL: `smtp/${textOf('mail password')}`,
    },
    'without-database': { DATABASE_URL: nowhere.href },
    'without-relay': { CHAIN_RELAY_KEYS: `0x${textOf('relay key')}00` },
  }
  for (const [name, own] of Object.entries(wrong)) {
    const gateway = await createGateway(context, name, { ...env, ...own })
    const started = await gateway.start().then(
      () => true,
      () => false,
    )
    if (started) throw new Error(`A gateway started ${name}: the run is invalid.`)
  }
}

/** The private key of an account, read out of custody. */
export async function readPrivateKey({ parts, context, env }: Scene, username: string): Promise<Buffer> {
  const row = (await readKeys(parts.database)).find((each) => each.username === username)
  const { KEY_ENCRYPTION_KEY: key, KEY_ENCRYPTION_KEY_PREVIOUS: previous } = env
  const vault = createLocalKeyVault({ dir: context.dir, key, previousKeys: [previous!] })
  const reveal = {
    createKeyPair: () => {
      throw new Error('Nothing is made here.')
    },
    signText: (privateKey: Uint8Array) => Buffer.from(privateKey).toString('hex'),
    signCoins: () => [],
  }
  return Buffer.from(await createCustody({ vault, keyPairs: reveal }).sign(row!.userId, row!.key, ''), 'hex')
}
