/** Builds the requests of the model's operations, and reads their responses. */

import { statuses } from '../../../src/http/error-status.ts'
import { type ErrorCode, errorCodes } from '../../../src/shared/errors.ts'
import type { Answer, Message } from '../http-client.ts'
import { type Input, messageOf, readValue, type Transport, type UseCaseName, type Value } from '../use-cases.ts'
import type { Kind, Operation } from './operations.ts'

export type RequestKind = Exclude<Kind, 'deposit' | 'elapse' | 'sweep'>
type OperationOfKind<K extends Kind> = Extract<Operation, { kind: K }>

/** Translates names of the model to IDs of the service. */
export interface Real {
  user(who: number): string
  credentials(who: number): { username: string; email: string; password: string }
  file(number: number): File
  nid(file: string): string
  app(name: string): string
  order(name: string): string
  withdrawal(name: string): string
  recipient: string
  appName(attempt: string): string
}

type InputOf<K extends Kind> = (operation: OperationOfKind<K>, real: Real, attempt: string) => Input

interface Request<K extends Kind> {
  useCase: UseCaseName
  input?: InputOf<K>
  /** Reads the fields that the model predicts. */
  shown?: (value: Value) => object
  /** Reads the ID of the created object. */
  made?: (value: Value) => string
}

const reason = 'For the model'
const shownAsset = ({ caption, publicAccess }: Value) => ({ caption, isPublic: publicAccess })
const shownWithdrawal = ({ amount, status }: Value) => ({ amount, status })
/** REST has four order statuses. The model compares those. */
const shownOrder = ({ status, price, numPaid, pointsPaid }: Value) => ({
  ...{ status: status === 'CREATED' || status === 'SUCCESS' ? status : 'FAILURE' },
  ...{ price, num: numPaid, points: pointsPaid },
})
const id = (value: Value): string => value.id

const requests: { [K in RequestKind]: Request<K> } = {
  signUp: { useCase: 'signUp', input: ({ as }, real) => real.credentials(as), made: id },
  signIn: {
    useCase: 'signIn',
    input: ({ who }, real) => ({ ...real.credentials(who), username: undefined }),
    made: ({ token }) => token,
  },
  signOut: { useCase: 'signOut' },
  grant: {
    useCase: 'grantPoints',
    input: ({ to, amount }, real) => ({ userId: real.user(to), amount, reason }),
    shown: ({ amount }) => ({ amount }),
  },
  register: {
    useCase: 'registerAsset',
    input: ({ file, isPublic, maxCost }, real) => ({ assetFile: real.file(file), publicAccess: isPublic, maxCost }),
    shown: shownAsset,
    made: id,
  },
  update: {
    useCase: 'updateAssetMetadata',
    input: ({ file, caption, isPublic, maxCost }, real) => ({
      ...{ id: real.nid(file), caption, publicAccess: isPublic, maxCost },
    }),
    shown: shownAsset,
  },
  removeAsset: { useCase: 'deleteAsset', input: ({ file }, real) => ({ id: real.nid(file) }) },
  readAsset: {
    useCase: 'readAsset',
    input: ({ file }, real) => ({ id: real.nid(file) }),
    shown: ({ commitCount, ...asset }) => ({
      ...shownAsset(asset),
      ...(commitCount !== undefined && { commits: commitCount }),
    }),
  },
  order: {
    useCase: 'createOrder',
    input: ({ app, maxCost }, real) => ({ networkApp: real.app(app), maxCost }),
    shown: shownOrder,
    made: id,
  },
  confirm: {
    useCase: 'confirmOrder',
    input: ({ order, maxCost }, real) => ({ id: real.order(order), maxCost }),
    shown: shownOrder,
  },
  cancel: { useCase: 'cancelOrder', input: ({ order }, real) => ({ id: real.order(order) }), shown: shownOrder },
  refund: {
    useCase: 'refundOrder',
    input: ({ order, amount }, real) => ({ orderId: real.order(order), amount: amount ?? undefined, reason }),
    shown: ({ num, points }) => ({ num, points }),
  },
  withdraw: {
    useCase: 'withdraw',
    input: ({ who, amount }, { credentials, recipient }) => ({
      ...{ amount, to: recipient, currentPassword: credentials(who as number).password },
    }),
    shown: shownWithdrawal,
    made: id,
  },
  cancelWithdrawal: {
    useCase: 'cancelWithdrawal',
    input: ({ withdrawal }, real) => ({ id: real.withdrawal(withdrawal) }),
    shown: shownWithdrawal,
  },
  deleteAccount: { useCase: 'deleteAccount' },
  lock: { useCase: 'lockUser', input: ({ whom }, real) => ({ userId: real.user(whom), reason }) },
  unlock: { useCase: 'unlockUser', input: ({ whom }, real) => ({ userId: real.user(whom), reason }) },
  list: {
    useCase: 'createNetworkApp',
    input: ({ price }, real, attempt) => ({ name: real.appName(attempt), price }),
    made: id,
  },
  price: { useCase: 'updateNetworkApp', input: ({ app, price }, real) => ({ id: real.app(app), price }) },
  unlist: { useCase: 'deactivateNetworkApp', input: ({ app }, real) => ({ id: real.app(app) }) },
  balance: { useCase: 'readMe', shown: ({ wallet: { num, points } }) => ({ num, points }) },
}

/** Returns the request of an operation without credentials. */
export function requestOf(
  operation: Extract<Operation, { kind: RequestKind }>,
  transport: Transport,
  real: Real,
  attempt: string,
): Message {
  const { useCase, input } = requests[operation.kind] as Request<Kind>
  return {
    name: `${transport} ${JSON.stringify(operation)}`,
    ...messageOf(transport, useCase, input?.(operation, real, attempt)),
  }
}

/** The outcome of an operation: an error code, or the returned fields and created ID. */
export type Result = { code: ErrorCode | 'ok' | 'unknown'; shown?: object | undefined; made?: string | undefined }

/** Reads a response. `unknown`: the error code or its status is undocumented. */
export function readAnswer(kind: RequestKind, transport: Transport, answer: Answer): Result {
  const { status, body } = answer
  const { useCase, shown, made } = requests[kind] as Request<Kind>
  if (transport === 'GraphQL') {
    if (status !== 200 || !body) return { code: 'unknown' }
    if (body.errors) return { code: body.errors[0].extensions?.code ?? 'unknown' }
  } else if (status >= 400) {
    const code = errorCodes.find((known) => statuses[known].type === body?.error?.type)
    return { code: code && statuses[code].status === status ? code : 'unknown' }
  } else if (status < 200) return { code: 'unknown' }
  const value = readValue(transport, useCase, answer)
  return { code: 'ok', shown: shown?.(value), made: made?.(value) }
}
