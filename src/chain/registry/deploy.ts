/** Puts the registry onto a chain that has none: the embedded one, or a network that an operator starts on. */
import { setTimeout as delay } from 'node:timers/promises'
import { getCreateAddress } from 'ethers'
import type { Database } from '../../db/database-types.ts'
import { rememberSetting } from '../../db/key-value-store.ts'
import { statement, text } from '../../db/sql.ts'
import type { Log } from '../../shared/log.ts'
import { chooseFees, isPoor } from '../fees.ts'
import { type RelayAccount, toHex } from '../keys.ts'
import { quantity, RpcError } from '../rpc.ts'
import { signTransaction } from '../transaction.ts'
import { readAccounts, readView } from '../view.ts'
import { registryBytecode } from './abi.ts'
import { type Registry, registrySetting } from './registry.ts'
import { noteStart } from './start.ts'

interface DeployOptions {
  registry: Registry
  database: Database
  account: RelayAccount
  log: Log
  maxFeePerGas: bigint
  /** Ends the waiting. */
  signal: AbortSignal
}

/** Milliseconds. */
const RECEIPT_WAIT_MS = 60_000
const RECEIPT_POLL_MS = 100

/**
 * The registry's address on this chain, with code behind it. The caller holds the account's lane, so that nobody else
 * deploys. The address is remembered before the transaction is sent: it follows from account and nonce, so a process
 * that dies in between, and a chain that lost its blocks, both end with the registry at the remembered address, and
 * every transaction that was signed for it stays valid.
 */
export const ensureRegistry = async (options: DeployOptions): Promise<string> => {
  const { registry, database, account, log } = options
  const chainId = await registry.readChainId()
  const key = registrySetting(chainId)
  const known = await registry.findAddress(chainId)
  if (known && (await registry.hasCode(known))) return known

  if (registry.configuredAddress) {
    throw new Error(
      `CHAIN_REGISTRY_ADDRESS says ${known}, but on chain ${chainId} there is no contract at that address.`,
    )
  }

  const view = await readView(registry.rpc, [])
  // Of one block: a node that is behind does not have the contract yet, while another one counts what made it.
  const block = quantity(view.head.number)
  if (known && (await registry.hasCode(known, block))) return known
  const [seen] = await readAccounts(registry.rpc, [account.address], block)
  const nonce = seen!.count
  const next = getCreateAddress({ from: account.address, nonce })
  if (known && known !== next) {
    const [replaced] = await database.query(replaceUnusedRegistry, { key, value: next })
    if (!replaced) {
      throw new Error(
        `There is no registry at ${known} on chain ${chainId}. Restore the chain's data, ` +
          'or set CHAIN_REGISTRY_ADDRESS to where the registry is.',
      )
    }
  } else {
    const [row] = await database.query(rememberSetting, { key, value: next })
    // Another process was faster; look again.
    if (row?.value !== next) throw new Error('The registry is being deployed by another process.')
  }

  const fees = chooseFees(view, options.maxFeePerGas)
  if (!fees)
    throw new Error('The base fee is above the highest fee that the relay may pay; the registry is not deployed.')
  const estimate = await registry.rpc.call<string>('eth_estimateGas', { from: account.address, data: registryBytecode })
  const gasLimit = (BigInt(estimate) * 5n) / 4n
  const signed = signTransaction(account, { ...fees, chainId, nonce, data: registryBytecode, gasLimit })
  const fields = { chainId, address: next, transaction: signed.hash }
  if (known === next) {
    log.warn(fields, 'The chain lost the registry; deploying it again and sending every commit again')
  } else log.info(fields, 'Deploying the registry')
  try {
    await registry.rpc.call('eth_sendRawTransaction', toHex(signed.raw))
  } catch (error) {
    // An earlier try may be waiting at this nonce; its outcome is the same contract at the same address.
    if (!(error instanceof RpcError) || isPoor(error)) throw error
    log.warn({ err: error, nonce }, 'The node rejected the deployment of the registry; waiting for an earlier one')
  }
  const deadline = performance.now() + RECEIPT_WAIT_MS
  while (!(await registry.hasCode(next))) {
    if (performance.now() > deadline) throw new Error(`The registry's deployment ${signed.hash} is not included yet.`)
    await delay(RECEIPT_POLL_MS, undefined, { signal: options.signal })
  }
  await noteStart({ rpc: registry.rpc, database, chainId, address: next }, signed.hash)
  return next
}

/** Another address for a registry that no transaction was ever signed for. */
export const replaceUnusedRegistry = statement(
  'registry_replace_unused',
  { parameters: { key: text, value: text }, columns: { value: text } },
  `update settings set value = $value where key = $key and not exists (select from chain_transactions) returning value`,
)
