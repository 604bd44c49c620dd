import type { Role } from '../../../events/member.ts';
import type { Scope } from '../../../events/scopes.ts';

export interface Access {
  /** The scope that a limited key needs; null if every valid key may. */
  scope: Scope | null;
  /** The role that a person needs. */
  role: Role;
  /** Whether a session must have been proven in the last minutes, because it could hand over the account or destroy. */
  asksAgain?: true;
}

/**
 * What each operation needs. An operation that is not listed does not compile. Reads of webhooks need `webhooks.write`,
 * because they show signing secrets.
 */
export const access = {
  listQrCodes: { scope: 'codes.read', role: 'viewer' },
  getQrCode: { scope: 'codes.read', role: 'viewer' },
  listQrCodeChanges: { scope: 'codes.read', role: 'viewer' },
  listTags: { scope: 'codes.read', role: 'viewer' },
  resolveScan: { scope: 'codes.read', role: 'viewer' },
  downloadQrCode: { scope: 'codes.read', role: 'viewer' },
  preflightQrCode: { scope: 'codes.read', role: 'viewer' },
  preflightStyle: { scope: 'codes.read', role: 'viewer' },
  drawStaticCode: { scope: 'codes.read', role: 'viewer' },
  createSheet: { scope: 'codes.read', role: 'viewer' },
  listLogos: { scope: 'codes.read', role: 'viewer' },
  getLogo: { scope: 'codes.read', role: 'viewer' },

  listShares: { scope: 'codes.read', role: 'viewer' },
  getShare: { scope: 'codes.read', role: 'viewer' },
  listRaisedAlerts: { scope: 'codes.read', role: 'viewer' },

  // With addresses of people.
  listAlerts: { scope: 'account.read', role: 'viewer' },
  getAlert: { scope: 'account.read', role: 'viewer' },
  listReports: { scope: 'account.read', role: 'viewer' },
  getReport: { scope: 'account.read', role: 'viewer' },
  previewReport: { scope: 'analytics.read', role: 'viewer' },
  createReport: { scope: 'codes.write', role: 'editor' },
  updateReport: { scope: 'codes.write', role: 'editor' },
  deleteReport: { scope: 'codes.write', role: 'editor' },

  createQrCode: { scope: 'codes.write', role: 'editor' },
  createQrCodes: { scope: 'codes.write', role: 'editor' },
  importLinks: { scope: 'codes.write', role: 'editor' },
  duplicateQrCode: { scope: 'codes.write', role: 'editor' },
  updateQrCode: { scope: 'codes.write', role: 'editor' },
  updateQrCodes: { scope: 'codes.write', role: 'editor' },
  restoreQrCode: { scope: 'codes.write', role: 'editor' },
  deleteQrCode: { scope: 'codes.write', role: 'editor', asksAgain: true },
  createShare: { scope: 'codes.write', role: 'editor' },
  updateShare: { scope: 'codes.write', role: 'editor' },
  deleteShare: { scope: 'codes.write', role: 'editor' },
  createAlert: { scope: 'codes.write', role: 'editor' },
  updateAlert: { scope: 'codes.write', role: 'editor' },
  deleteAlert: { scope: 'codes.write', role: 'editor' },
  uploadLogo: { scope: 'codes.write', role: 'editor' },
  deleteLogo: { scope: 'codes.write', role: 'editor' },

  getAggregateAnalytics: { scope: 'analytics.read', role: 'viewer' },
  getAccountTimeSeries: { scope: 'analytics.read', role: 'viewer' },
  getAccountHeatMap: { scope: 'analytics.read', role: 'viewer' },
  listCodeAnalytics: { scope: 'analytics.read', role: 'viewer' },
  listAccountScans: { scope: 'analytics.read', role: 'viewer' },
  exportAccountScans: { scope: 'analytics.read', role: 'viewer' },
  getAnalyticsSummary: { scope: 'analytics.read', role: 'viewer' },
  getAnalyticsSummaryByVariantPath: { scope: 'analytics.read', role: 'viewer' },
  getTimeSeries: { scope: 'analytics.read', role: 'viewer' },
  getHeatMap: { scope: 'analytics.read', role: 'viewer' },
  getDestinationAnalytics: { scope: 'analytics.read', role: 'viewer' },
  listScans: { scope: 'analytics.read', role: 'viewer' },
  exportScans: { scope: 'analytics.read', role: 'viewer' },

  listEvents: { scope: 'events.read', role: 'viewer' },
  listAuditEvents: { scope: 'events.read', role: 'viewer' },

  getAccount: { scope: 'account.read', role: 'viewer' },
  listKeys: { scope: 'account.read', role: 'viewer' },
  updateAccount: { scope: 'account.write', role: 'owner' },
  createKey: { scope: 'account.write', role: 'owner', asksAgain: true },
  rotateKey: { scope: 'account.write', role: 'owner', asksAgain: true },
  revokeKey: { scope: 'account.write', role: 'owner', asksAgain: true },
  revertChanges: { scope: 'account.write', role: 'owner' },

  listMembers: { scope: 'account.read', role: 'viewer' },
  updateMember: { scope: 'account.write', role: 'owner', asksAgain: true },
  // Everyone may leave; only owners remove others.
  removeMember: { scope: 'account.write', role: 'viewer', asksAgain: true },
  listInvitations: { scope: 'account.read', role: 'owner' },
  createInvitation: { scope: 'account.write', role: 'owner', asksAgain: true },
  revokeInvitation: { scope: 'account.write', role: 'owner', asksAgain: true },

  listDomains: { scope: 'account.read', role: 'viewer' },
  getDomain: { scope: 'account.read', role: 'viewer' },
  addDomain: { scope: 'domains.write', role: 'owner', asksAgain: true },
  updateDomain: { scope: 'domains.write', role: 'owner', asksAgain: true },
  verifyDomain: { scope: 'domains.write', role: 'owner' },
  removeDomain: { scope: 'domains.write', role: 'owner', asksAgain: true },

  listWebhooks: { scope: 'webhooks.write', role: 'owner' },
  createWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  readWebhook: { scope: 'webhooks.write', role: 'owner' },
  updateWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  removeWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  rotateSecretOfWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  testWebhook: { scope: 'webhooks.write', role: 'owner' },
  listDeliveriesOfWebhook: { scope: 'webhooks.write', role: 'owner' },
  resendDeliveryOfWebhook: { scope: 'webhooks.write', role: 'owner' },
  startReplay: { scope: 'webhooks.write', role: 'owner' },
  listReplays: { scope: 'webhooks.write', role: 'owner' },
  getReplay: { scope: 'webhooks.write', role: 'owner' },
  cancelReplay: { scope: 'webhooks.write', role: 'owner' },
  getWebhook: { scope: 'webhooks.write', role: 'owner' },
  setWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  deleteWebhook: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  rotateWebhookSecret: { scope: 'webhooks.write', role: 'owner', asksAgain: true },
  sendTestEvent: { scope: 'webhooks.write', role: 'owner' },
  listDeliveries: { scope: 'webhooks.write', role: 'owner' },
  resendDelivery: { scope: 'webhooks.write', role: 'owner' },

  // Of the console only.
  readScansOfSelectedQrCodes: { scope: 'analytics.read', role: 'viewer' },
  readSelectedQrCodes: { scope: 'codes.read', role: 'viewer' },
  downloadSelectedQrCodes: { scope: 'codes.read', role: 'viewer' },
  checkShortCodes: { scope: 'codes.write', role: 'editor' },
  changeSelectedQrCodes: { scope: 'codes.write', role: 'editor' },
  tagSelectedQrCodes: { scope: 'codes.write', role: 'editor' },
  deleteSelectedQrCodes: { scope: 'codes.write', role: 'editor', asksAgain: true },
  listConsoleSessions: { scope: 'account.read', role: 'viewer' },
  // People see and end their own sessions.
  endConsoleSession: { scope: 'account.write', role: 'viewer' },
  endOtherConsoleSessions: { scope: 'account.write', role: 'viewer' },
  // A session of the same person or with the same keys, which can do no more than this one.
  createPhoneLink: { scope: null, role: 'viewer' },
  // Of people only.
  getMe: { scope: null, role: 'viewer' },
  updateMe: { scope: null, role: 'viewer' },
  exportMe: { scope: null, role: 'viewer', asksAgain: true },
  deleteMe: { scope: null, role: 'viewer', asksAgain: true },
  beginTotp: { scope: null, role: 'viewer', asksAgain: true },
  confirmTotp: { scope: null, role: 'viewer' },
  replaceRecoveryCodes: { scope: null, role: 'viewer', asksAgain: true },
  removeTotp: { scope: null, role: 'viewer', asksAgain: true },
  beginPasskey: { scope: null, role: 'viewer', asksAgain: true },
  addPasskey: { scope: null, role: 'viewer' },
  renamePasskey: { scope: null, role: 'viewer' },
  removePasskey: { scope: null, role: 'viewer', asksAgain: true },
  listSecurityChanges: { scope: null, role: 'viewer' },

  // Of operators of the service, who count as owners of every account there (src/console/operator/admission.ts).
  listAllAccounts: { scope: null, role: 'owner' },
  readAnyAccount: { scope: null, role: 'owner' },
  readScansOfAnyAccount: { scope: null, role: 'owner' },
  listAuditOfAnyAccount: { scope: null, role: 'owner' },
  setPlanOfAccount: { scope: null, role: 'owner', asksAgain: true },
  suspendAccount: { scope: null, role: 'owner', asksAgain: true },
  resumeAccount: { scope: null, role: 'owner', asksAgain: true },
  deleteAnyAccount: { scope: null, role: 'owner', asksAgain: true },
  findAnyCodes: { scope: null, role: 'owner' },
  takeDownCode: { scope: null, role: 'owner', asksAgain: true },
  putBackCode: { scope: null, role: 'owner', asksAgain: true },
  listBlockedHosts: { scope: null, role: 'owner' },
  blockHost: { scope: null, role: 'owner', asksAgain: true },
  unblockHost: { scope: null, role: 'owner', asksAgain: true },
  listUsers: { scope: null, role: 'owner' },
  changeUser: { scope: null, role: 'owner', asksAgain: true },
  createResetLink: { scope: null, role: 'owner', asksAgain: true },
  readSignUp: { scope: null, role: 'owner' },
  readHealth: { scope: null, role: 'owner' },
  listOperatorActions: { scope: null, role: 'owner' },
} as const satisfies Record<string, Access>;

export type OperationId = keyof typeof access;

export const accessOf = (operation: OperationId): Access => access[operation];

export const scopeOf = (operation: OperationId): Scope | null => access[operation].scope;
