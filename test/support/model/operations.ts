/** The operations of the model. They refer to orders and assets by name, or by a number until the name is known. */

export type Caller = number | 'admin' | 'anonymous'

type By = { who: Caller }
type Bounded = { maxCost?: string | undefined }

/** The operations by kind. `Ref` is a number before it is resolved, and a name afterwards. */
export interface OperationFields<Ref> {
  signUp: { who: number; as: number }
  signIn: { who: number }
  signOut: { who: number }
  deposit: { who: number; amount: string }
  grant: By & { to: number; amount: string }
  register: By & Bounded & { file: number; isPublic: boolean }
  update: By & Bounded & { file: Ref; caption?: string | undefined; isPublic?: boolean | undefined }
  removeAsset: By & { file: Ref }
  readAsset: By & { file: Ref }
  order: By & Bounded & { app: Ref; isTrusted: boolean }
  confirm: By & Bounded & { order: Ref }
  cancel: By & { order: Ref }
  refund: By & { order: Ref; amount: string | null }
  withdraw: By & { amount: string }
  cancelWithdrawal: By & { withdrawal: Ref }
  deleteAccount: By
  lock: By & { whom: number }
  unlock: By & { whom: number }
  list: By & { price: string }
  price: By & { app: Ref; price: string }
  unlist: By & { app: Ref }
  elapse: { minutes: number }
  sweep: object
  balance: By
}

export type Kind = keyof OperationFields<string>
type OperationOf<Ref> = { [K in Kind]: { kind: K } & OperationFields<Ref>[K] }[Kind]
export type Template = OperationOf<number>
export type Operation = OperationOf<string>

const references = { file: 'assets', app: 'apps', order: 'orders', withdrawal: 'withdrawals' } as const

export type Names = Record<(typeof references)[keyof typeof references], readonly string[]>

/** The initial names. An app exists from the start. */
export const noNames: Names = { assets: [], apps: ['first'], orders: [], withdrawals: [] }

export function nameIn(names: Names, { name, operation }: { name: string; operation: Operation }): Names {
  const add = (list: keyof Names, made: string) =>
    names[list].includes(made) ? names : { ...names, [list]: [...names[list], made] }
  switch (operation.kind) {
    case 'register':
      return add('assets', String(operation.file))
    case 'order':
      return add('orders', name)
    case 'withdraw':
      return add('withdrawals', name)
    case 'list':
      return add('apps', name)
    default:
      return names
  }
}

/** Resolves the references of an operation. Returns undefined if a referenced object does not exist. */
export function resolve(template: Template, names: Names): Operation | undefined {
  const operation: Record<string, unknown> = { ...template }
  if (template.kind === 'register') return { ...template }
  for (const [field, list] of Object.entries(references)) {
    if (!(field in template)) continue
    const known = names[list]
    if (known.length === 0) return undefined
    operation[field] = known[(operation[field] as number) % known.length]
  }
  return operation as unknown as Operation
}

export const keyed: ReadonlySet<Kind> = new Set<Kind>([
  'grant',
  'register',
  'update',
  'removeAsset',
  'order',
  'confirm',
  'cancel',
  'refund',
  'withdraw',
  'cancelWithdrawal',
])

/** Returns the operation with another body, or undefined if the body has no effect. */
export function altered(operation: Operation): Operation | undefined {
  switch (operation.kind) {
    case 'grant':
    case 'withdraw':
      return { ...operation, amount: operation.amount === '1' ? '2' : '1' }
    case 'refund':
      return { ...operation, amount: operation.amount === null ? '0.000000000000000001' : null }
    case 'register':
    case 'update':
    case 'order':
    case 'confirm':
      return { ...operation, maxCost: operation.maxCost === undefined ? '1000' : undefined }
    default:
      return undefined
  }
}
