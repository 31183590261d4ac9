/** What the audit trail tells of: everything that changes credentials or money's rules, and what administrators do. */
export const auditActions = [
  'account.created',
  'account.deleted',
  'account.exported',
  'account.locked',
  'account.unlocked',
  'session.started',
  'session.ended',
  'session.revoked',
  'admin-session.started',
  'admin-session.ended',
  'password.changed',
  'password.reset',
  'email.change-requested',
  'email.changed',
  'email.verified',
  'username.changed',
  'profile.changed',
  'api-key.issued',
  'api-key.revoked',
  'network-app.created',
  'network-app.updated',
  'network-app.deactivated',
  'network-app.secret-rotated',
  'points.granted',
  'order.refunded',
  'webhook-delivery.replayed',
  'keys.rotated',
  'sign-in.locked',
] as const

/** Something that the audit trail tells of. */
export type AuditAction = (typeof auditActions)[number]
