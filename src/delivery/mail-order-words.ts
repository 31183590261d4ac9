/** The words of mails about orders. `{name}` is filled in. */
import type { Language } from '../domain/language.ts'

const en = {
  receipt: {
    subject: 'Your receipt for {app}',
    heading: 'Thank you for your payment',
    text: 'You paid for {app}. This is your receipt.',
    free: 'You ordered {app}. It is free of charge.',
  },
  sale: {
    subject: 'You sold {app}',
    heading: 'You made a sale',
    text: 'Somebody paid for {app}. Your earnings are in your wallet.',
    free: 'Somebody ordered {app}. It is free of charge.',
  },
  'order-failed': {
    subject: 'Your order of {app} could not be delivered',
    heading: 'Your order could not be delivered',
    text: 'You paid for {app}, but the service that carries it out did not take your order.',
    next: 'Your order stays paid. To have it delivered or settled, write to {contact} and give the order below.',
    nextWithoutContact:
      'Your order stays paid. To have it delivered or settled, get in touch at {url} and give the order below.',
    free: {
      text: 'You ordered {app}, but the service that carries it out did not take your order. It is free of charge.',
      next: 'To have it delivered, write to {contact} and give the order below.',
      nextWithoutContact: 'To have it delivered, get in touch at {url} and give the order below.',
    },
  },
  'order-refunded': {
    subject: 'Your payment for {app} was returned',
    heading: 'You got your payment back',
    text: 'Your order of {app} could not be carried out. What you paid is back in your wallet.',
    free: {
      subject: 'Your order of {app} could not be carried out',
      heading: 'Your order could not be carried out',
      text: 'Your order of {app} could not be carried out. It was free of charge.',
    },
  },
  refund: {
    subject: 'You got a refund for {app}',
    heading: 'You got a refund',
    whole: 'Your payment for {app} was given back. It is in your wallet.',
    part: 'A part of your payment for {app} was given back. It is in your wallet.',
  },
  facts: {
    app: 'Paid action',
    price: 'Price',
    order: 'Order',
    time: 'Time',
    charge: 'Charge',
    refund: 'Refund',
    reason: 'Reason',
    paidPoints: 'Paid in points',
    paidNum: 'Paid in {currency}',
    earnedPoints: 'Earned in points',
    earnedNum: 'Earned in {currency}',
    returnedPoints: 'Returned in points',
    returnedNum: 'Returned in {currency}',
    platformShare: 'Platform’s share',
  },
  footer: 'You get this mail because of an order at {url}.',
}

/** The words that every language has for mails about orders. */
export type OrderWords = typeof en

const zhTw: OrderWords = {
  receipt: {
    subject: '{app} 的收據',
    heading: '感謝您的付款',
    text: '您已付款購買 {app}，這是您的收據。',
    free: '您已訂購 {app}，此項目免費。',
  },
  sale: {
    subject: '您售出了 {app}',
    heading: '您有一筆新的銷售',
    text: '有人付款購買了 {app}，收益已存入您的錢包。',
    free: '有人訂購了 {app}，此項目免費。',
  },
  'order-failed': {
    subject: '您訂購的 {app} 無法交付',
    heading: '您的訂單無法交付',
    text: '您已付款購買 {app}，但執行此項目的服務未能接受您的訂單。',
    next: '您的訂單仍為已付款狀態。如需補交付或處理款項，請來信 {contact}，並附上下列訂單編號。',
    nextWithoutContact: '您的訂單仍為已付款狀態。如需補交付或處理款項，請透過 {url} 與我們聯絡，並附上下列訂單編號。',
    free: {
      text: '您已訂購 {app}，但執行此項目的服務未能接受您的訂單。此項目免費。',
      next: '如需補交付，請來信 {contact}，並附上下列訂單編號。',
      nextWithoutContact: '如需補交付，請透過 {url} 與我們聯絡，並附上下列訂單編號。',
    },
  },
  'order-refunded': {
    subject: '{app} 的款項已退還',
    heading: '您的款項已退還',
    text: '您訂購的 {app} 無法執行，您支付的款項已退回您的錢包。',
    free: {
      subject: '您訂購的 {app} 無法執行',
      heading: '您的訂單無法執行',
      text: '您訂購的 {app} 無法執行。此項目免費。',
    },
  },
  refund: {
    subject: '{app} 的退款通知',
    heading: '您收到一筆退款',
    whole: '您為 {app} 支付的款項已全數退回您的錢包。',
    part: '您為 {app} 支付的款項已有部分退回您的錢包。',
  },
  facts: {
    app: '付費項目',
    price: '價格',
    order: '訂單編號',
    time: '時間',
    charge: '扣款編號',
    refund: '退款編號',
    reason: '原因',
    paidPoints: '以點數支付',
    paidNum: '以 {currency} 支付',
    earnedPoints: '點數收益',
    earnedNum: '{currency} 收益',
    returnedPoints: '退還點數',
    returnedNum: '退還 {currency}',
    platformShare: '平台分潤',
  },
  footer: '您收到這封信，是因為在 {url} 有一筆訂單。',
}

/** These words by language. */
export const orderWords: Record<Language, OrderWords> = { en, 'zh-TW': zhTw }
