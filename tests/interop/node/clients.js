// Sends and consumes COUNT messages through ali-ons: node clients.js NAME_SERVERS TOPIC COUNT.
'use strict';

const { Consumer, Producer, Message } = require('ali-ons');

const [servers, topic, wanted] = process.argv.slice(2);
const count = Number(wanted);
const options = { nameSrv: servers.split(';'), logger: quiet(), httpclient: {} };

function quiet() {
  const none = () => {};
  return { info: none, debug: none, warn: none, error: none };
}

function finish(received, code) {
  console.log(`sent ${count} received ${received}`);
  process.exit(code);
}

async function main() {
  const seen = new Set();
  const consumer = new Consumer({ ...options, consumerGroup: `${topic}-node`, consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET' });
  consumer.on('error', error => console.log(error.message));
  consumer.subscribe(topic, '*', async message => {
    seen.add(message.body.toString());
    if (seen.size === count) finish(seen.size, 0);
  });
  setTimeout(() => finish(seen.size, 1), 90_000);
  await consumer.ready();

  const producer = new Producer({ ...options, producerGroup: `${topic}-node-producer` });
  producer.on('error', error => console.log(error.message));
  await producer.ready();
  for (let number = 0; number < count; number++) {
    const result = await producer.send(new Message(topic, 'tag', String(number)));
    if (result.sendStatus !== 'SEND_OK') throw new Error(`send: ${result.sendStatus}`);
  }
}

main().catch(error => {
  console.log(error);
  process.exit(1);
});
