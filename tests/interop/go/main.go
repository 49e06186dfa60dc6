// Sends and consumes COUNT messages through the Go client: main NAME_SERVERS TOPIC COUNT.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func main() {
	rlog.SetLogLevel("error")
	servers, topic := strings.Split(os.Args[1], ";"), os.Args[2]
	count, err := strconv.Atoi(os.Args[3])
	check(err)

	bodies := make(chan string, 2*count)
	c, err := rocketmq.NewPushConsumer(
		consumer.WithGroupName(topic+"-go"),
		consumer.WithNsResolver(primitive.NewPassthroughResolver(servers)),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	)
	check(err)
	check(c.Subscribe(topic, consumer.MessageSelector{},
		func(_ context.Context, messages ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
			for _, message := range messages {
				bodies <- string(message.Body)
			}
			return consumer.ConsumeSuccess, nil
		}))
	check(c.Start())

	p, err := rocketmq.NewProducer(producer.WithNsResolver(primitive.NewPassthroughResolver(servers)))
	check(err)
	check(p.Start())
	for number := 0; number < count; number++ {
		_, err := p.SendSync(context.Background(), primitive.NewMessage(topic, []byte(strconv.Itoa(number))))
		check(err)
	}

	seen := map[string]bool{}
	deadline := time.After(60 * time.Second)
	for len(seen) < count {
		select {
		case body := <-bodies:
			seen[body] = true
		case <-deadline:
			fmt.Printf("sent %d received %d\n", count, len(seen))
			os.Exit(1)
		}
	}
	fmt.Printf("sent %d received %d\n", count, len(seen))
	os.Exit(0)
}
